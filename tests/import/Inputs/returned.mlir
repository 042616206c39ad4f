module @jit_f attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>} loc("x")) -> (tensor<8x16xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x16xf32> loc(#loc2)
    return %0 : tensor<8x16xf32> loc(#loc)
  }
}
#loc = loc(unknown)
#loc1 = loc("away.py":7:11 to :40)
#loc2 = loc("jit(f)/concatenate"(#loc1))
