module @jit_transposed attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(%x: tensor<8x8x8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}, {"model"}]>}, %w: tensor<2x2x32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"model"}]>}, %z: tensor<4x12x12x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}, {"model"}]>}, %g: tensor<4x24x24x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}, {"model"}]>}) -> (tensor<8x16x16x16xf32> {jax.result_info = "y"}, tensor<3x3x4x8xf32> {jax.result_info = "of_kernel"}) {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x8x8x32xf32>, tensor<2x2x32x16xf32>) -> tensor<8x16x16x16xf32>
    %1 = stablehlo.convolution(%z, %g) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x12x12x4xf32>, tensor<4x24x24x8xf32>) -> tensor<3x3x4x8xf32>
    return %0, %1 : tensor<8x16x16x16xf32>, tensor<3x3x4x8xf32>
  }
}
