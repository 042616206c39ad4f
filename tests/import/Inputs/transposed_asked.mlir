module @jit_transposed_asked attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "rows"=2, "model"=2]>
  func.func public @main(%x: tensor<2x16x16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"rows"}, {}, {}]>}, %a: tensor<2x2x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"model"}]>}, %b: tensor<3x3x8x8xf32>) -> (tensor<2x32x32x8xf32> {jax.result_info = "result[0]"}, tensor<2x32x32x8xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.convolution(%x, %a) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x16x8xf32>, tensor<2x2x8x8xf32>) -> tensor<2x32x32x8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"data"}, {"rows", "model"}, {}, {}]> : tensor<2x32x32x8xf32>
    %2 = stablehlo.convolution(%x, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x16x8xf32>, tensor<3x3x8x8xf32>) -> tensor<2x32x32x8xf32>
    %3 = sdy.sharding_constraint %2 <@mesh, [{"data"}, {}, {}, {}]> : tensor<2x32x32x8xf32>
    return %1, %3 : tensor<2x32x32x8xf32>, tensor<2x32x32x8xf32>
  }
}
