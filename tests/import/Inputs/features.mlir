module @jit_features attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(%x: tensor<4x16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}, {}]>}, %kernel: tensor<4x1x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"model"}]>}, %half: tensor<4x16x16xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}, {}]>}, %half_kernel: tensor<4x1x16xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"model"}]>}) -> (tensor<4x16x16xf32> {jax.result_info = "rows"}, tensor<4x16x16xbf16> {jax.result_info = "half"}) {
    %0 = stablehlo.convolution(%x, %kernel) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[3, 0]]} {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<4x16x16xf32>, tensor<4x1x16xf32>) -> tensor<4x16x16xf32>
    %1 = stablehlo.convolution(%half, %half_kernel) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[3, 0]]} {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<4x16x16xbf16>, tensor<4x1x16xbf16>) -> tensor<4x16x16xbf16>
    return %0, %1 : tensor<4x16x16xf32>, tensor<4x16x16xbf16>
  }
}
