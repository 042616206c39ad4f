#loc1 = loc("z")
#loc2 = loc("x")
module @jit_f {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%arg0: tensor<2x4xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("z"), %arg1: tensor<4xf32> loc("x")) -> (tensor<2x4xcomplex<f32>> {jax.result_info = "result['product']"}, tensor<2x4xf32> {jax.result_info = "result['size']"}, tensor<2x4xcomplex<f32>> {jax.result_info = "result['spectrum']"}, tensor<3xcomplex<f32>> {jax.result_info = "result['real_spectrum']"}, tensor<2x4xcomplex<f32>> {jax.result_info = "result['back']"}, tensor<2x4xi1> {jax.result_info = "result['same']"}, tensor<2x4xcomplex<f32>> {jax.result_info = "result['root']"}, tensor<2x4xcomplex<f32>> {jax.result_info = "result['power']"}) {
    %cst = stablehlo.constant dense<(0.000000e+00,2.000000e+00)> : tensor<complex<f32>>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<2x4xcomplex<f32>>
    %1 = stablehlo.multiply %arg0, %0 : tensor<2x4xcomplex<f32>>
    %2 = stablehlo.abs %arg0 : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xf32>
    %3 = stablehlo.fft %arg0, type =  FFT, length = [4] : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xcomplex<f32>>
    %4 = stablehlo.fft %arg1, type =  RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
    %5 = "stablehlo.fft"(%3) <{fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type IFFT>}> : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xcomplex<f32>>
    %6 = stablehlo.divide %1, %0 : tensor<2x4xcomplex<f32>>
    %7 = stablehlo.compare  EQ, %6, %arg0,  FLOAT : (tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>) -> tensor<2x4xi1>
    %8 = stablehlo.sqrt %arg0 : tensor<2x4xcomplex<f32>>
    %9 = stablehlo.power %arg0, %0 : tensor<2x4xcomplex<f32>>
    return %1, %2, %3, %4, %5, %7, %8, %9 : tensor<2x4xcomplex<f32>>, tensor<2x4xf32>, tensor<2x4xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<2x4xcomplex<f32>>, tensor<2x4xi1>, tensor<2x4xcomplex<f32>>, tensor<2x4xcomplex<f32>>
  }
}
