// A call with a rule, that states the cost of all of it.
module @jit_priced attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(%arg0: tensor<4096x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("q"), %arg1: tensor<4096x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("k"), %arg2: tensor<4096x512xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>} loc("v")) -> (tensor<4096x512xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.custom_call @tpu_custom_call(%arg0, %arg1, %arg2) {backend_config = "{\22custom_call_config\22: {\22cost_estimate\22: {\22bytes_accessed\22:25165824,\22flops\22:34359738368,\22transcendentals\22:67108864}}}", sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, j], [k, l])->([i, l]) {i=4096, j=512, k=4096, l=512} need_replication={j, k}, custom>} : (tensor<4096x512xbf16>, tensor<4096x512xbf16>, tensor<4096x512xbf16>) -> tensor<4096x512xf32>
    return %0 : tensor<4096x512xf32>
  }
}
