module @jit_f attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data-par"=2, "it's \C3\BC"=4]>
  func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data-par"}, {"it's \C3\BC"}]>} loc("x"), %arg1: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"it's \C3\BC"}, {}]>} loc("w")) -> (tensor<8x8xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32> loc(#loc2)
    return %0 : tensor<8x8xf32>
  }
}
#loc1 = loc("away.py":7:11 to :16)
#loc2 = loc("jit(f)/dot_general"(#loc1))
