module @jit_h attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg1: tensor<8x4xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<8x3xf32> {jax.result_info = "result[0]"}, tensor<8x3xi32> {jax.result_info = "result[1]"}, tensor<8x16xf32> {jax.result_info = "result[2]"}, tensor<8x4xf32> {jax.result_info = "result[3]"}) {
    %cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %0 = stablehlo.composite "chlo.erf" %arg0 {decomposition = @chlo.erf.impl, version = 1 : i32} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %1:2 = stablehlo.composite "chlo.top_k" %0 {composite_attributes = {k = 3 : i64}, decomposition = @chlo.top_k.impl, version = 1 : i32} : (tensor<8x16xf32>) -> (tensor<8x3xf32>, tensor<8x3xi32>)
    %2 = stablehlo.composite "chlo.sinh" %1#0 {decomposition = @chlo.sinh.impl, version = 1 : i32} : (tensor<8x3xf32>) -> tensor<8x3xf32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %4 = stablehlo.multiply %arg0, %3 : tensor<8x16xf32>
    %5 = stablehlo.composite "chlo.asin" %4 {decomposition = @chlo.asin.impl, version = 1 : i32} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %7 = stablehlo.multiply %arg0, %6 : tensor<8x16xf32>
    %8 = stablehlo.composite "chlo.acos" %7 {decomposition = @chlo.acos.impl, version = 1 : i32} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %9 = stablehlo.add %5, %8 : tensor<8x16xf32>
    %10 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %11 = stablehlo.multiply %arg0, %10 : tensor<8x16xf32>
    %12 = stablehlo.composite "chlo.atanh" %11 {decomposition = @chlo.atanh.impl, version = 1 : i32} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %13 = stablehlo.add %9, %12 : tensor<8x16xf32>
    %14 = stablehlo.composite "chlo.cosh" %arg1 {decomposition = @chlo.cosh.impl, version = 1 : i32} : (tensor<8x4xcomplex<f32>>) -> tensor<8x4xcomplex<f32>>
    %15 = stablehlo.real %14 : (tensor<8x4xcomplex<f32>>) -> tensor<8x4xf32>
    return %2, %1#1, %13, %15 : tensor<8x3xf32>, tensor<8x3xi32>, tensor<8x16xf32>, tensor<8x4xf32>
  }
}
