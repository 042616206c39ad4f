module @jit_f {
  func.func public @main(%arg0: tensor<2x4xcomplex<f32>> loc("z")) -> (tensor<2x4xcomplex<f32>> {jax.result_info = "y"}) {
    %0 = stablehlo.fft %arg0, type =  FFT, length = [4] : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xcomplex<f32>>
    return %0 : tensor<2x4xcomplex<f32>>
  }
}
