module @jit_f attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"), %arg1: tensor<8x8xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("z")) -> (tensor<8xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<8x8xcomplex<f32>> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<(0.0,0.0)> : tensor<complex<f32>>
    %0 = stablehlo.reduce(%arg1 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<8x8xcomplex<f32>>, tensor<complex<f32>>) -> tensor<8xcomplex<f32>> loc(#loc3)
    %1 = stablehlo.fft %arg1, type = FFT, length = [8, 8] : (tensor<8x8xcomplex<f32>>) -> tensor<8x8xcomplex<f32>> loc(#loc4)
    return %0, %1 : tensor<8xcomplex<f32>>, tensor<8x8xcomplex<f32>>
  }
}
#loc1 = loc("away.py":7:11 to :16)
#loc2 = loc("away.py":8:11 to :16)
#loc3 = loc("jit(f)/reduce_sum"(#loc1))
#loc4 = loc("jit(f)/fft"(#loc2))
