module @jit_depthwise attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(%x: tensor<8x4x4x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}, {"model"}]>}, %k: tensor<2x2x1x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"data"}]>}) -> (tensor<8x8x8x16xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<8x4x4x16xf32>, tensor<2x2x1x16xf32>) -> tensor<8x8x8x16xf32>
    return %0 : tensor<8x8x8x16xf32>
  }
}
