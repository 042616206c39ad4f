module @jit_transposed_crossed attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(%x: tensor<2x16x16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {"data"}, {}]>}, %w: tensor<4x4x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"data"}]>}) -> (tensor<2x32x32x8xf32> {jax.result_info = "result[0]"}) {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[2, 2], [2, 2]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x16x4xf32>, tensor<4x4x4x8xf32>) -> tensor<2x32x32x8xf32>
    return %0 : tensor<2x32x32x8xf32>
  }
}
