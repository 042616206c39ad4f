module @jit_f attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]>
  func.func public @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32> {jax.result_info = "result[0]"}, tensor<8xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.composite "my.twice" %arg0 {composite_attributes = {dimension_numbers = [[[1], [0]], [[], []]], dtype = f32}, decomposition = @my.twice} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1:2 = "stablehlo.composite"(%0) <{composite_attributes = {axis = 1 : i64}, decomposition = @"my.sums", name = "my.sums", version = 2 : i32}> : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>)
    return %1#0, %1#1 : tensor<8x4xf32>, tensor<8xf32>
  }
  func.func private @my.twice(%arg0: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
  func.func private @my.sums(%arg0: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.composite "my.twice" %arg0 {decomposition = @my.twice} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
    return %0, %1 : tensor<8x4xf32>, tensor<8xf32>
  }
}
