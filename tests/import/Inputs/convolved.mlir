module @jit_convolved attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(%x: tensor<4x12x12x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}, {"model"}]>}, %g: tensor<4x12x12x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}, {"model"}]>}, %rows: tensor<4x12x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>}, %kernel: tensor<3x16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"data"}]>}, %long: tensor<4x19x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"data"}]>}, %short: tensor<4x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"data"}]>}) -> (tensor<3x3x4x8xf32> {jax.result_info = "of_kernel"}, tensor<4x12x32xf32> {jax.result_info = "of_rows"}, tensor<4x16x16xf32> {jax.result_info = "of_longer"}) {
    %0 = stablehlo.convolution(%x, %g) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x12x12x4xf32>, tensor<4x12x12x8xf32>) -> tensor<3x3x4x8xf32>
    %1 = stablehlo.convolution(%rows, %kernel) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x12x16xf32>, tensor<3x16x32xf32>) -> tensor<4x12x32xf32>
    %2 = stablehlo.convolution(%short, %long) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {pad = [[3, 3]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x16x16xf32>, tensor<4x19x16xf32>) -> tensor<4x16x16xf32>
    return %0, %1, %2 : tensor<3x3x4x8xf32>, tensor<4x12x32xf32>, tensor<4x16x16xf32>
  }
}
