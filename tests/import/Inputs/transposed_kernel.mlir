module @jit_transposed_kernel attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["d"=2, "h"=2, "w"=2]>
  func.func public @main(%x: tensor<4x16x16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"h"}, {}, {}, {"d", "w"}]>}, %a: tensor<3x3x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"h"}]>}, %b: tensor<2x2x8x8xf32>) -> (tensor<4x32x32x8xf32> {jax.result_info = "result[0]"}, tensor<4x48x48x8xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.convolution(%x, %a) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x16x16x8xf32>, tensor<3x3x8x8xf32>) -> tensor<4x32x32x8xf32>
    %1 = stablehlo.convolution(%x, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[3, 0], [3, 0]], lhs_dilate = [3, 3]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x16x16x8xf32>, tensor<2x2x8x8xf32>) -> tensor<4x48x48x8xf32>
    return %0, %1 : tensor<4x32x32x8xf32>, tensor<4x48x48x8xf32>
  }
}
