module @jit_f attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>} loc("x"), %arg1: tensor<8x16xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>} loc("z")) -> (tensor<8x16xf32> {jax.result_info = "result[0]"}, tensor<8x16xcomplex<f32>> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [8, 16] : (tensor<8x16xf32>) -> tensor<8x9xcomplex<f32>> loc(#loc3)
    %1 = stablehlo.fft %0, type = IRFFT, length = [8, 16] : (tensor<8x9xcomplex<f32>>) -> tensor<8x16xf32> loc(#loc4)
    %2 = stablehlo.fft %arg1, type = FFT, length = [16] : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>> loc(#loc5)
    return %1, %2 : tensor<8x16xf32>, tensor<8x16xcomplex<f32>>
  }
}
#loc0 = loc("away.py":6:11 to :16)
#loc1 = loc("away.py":7:11 to :16)
#loc2 = loc("away.py":8:11 to :16)
#loc3 = loc("jit(f)/fft"(#loc0))
#loc4 = loc("jit(f)/fft"(#loc1))
#loc5 = loc("jit(f)/fft"(#loc2))
