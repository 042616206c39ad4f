module @jit_g5 attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) -> (tensor<64xf32> {jax.result_info = "result[0]"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%iterArg = %c, %iterArg_1 = %arg0) : tensor<i32>, tensor<32x64xf32>
    cond {
      %c_2 = stablehlo.constant dense<3> : tensor<i32>
      %5 = stablehlo.compare LT, %iterArg, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    } do {
      %5 = func.call @closed_call(%iterArg_1) : (tensor<32x64xf32>) -> tensor<32x64xf32>
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %6 = stablehlo.add %iterArg, %c_2 : tensor<i32>
      stablehlo.return %6, %5 : tensor<i32>, tensor<32x64xf32>
    }
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0#1 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<32x64xf32>, tensor<f32>) -> tensor<64xf32>
    %2 = sdy.sharding_constraint %0#1 <@mesh, [{"data"}, {"model"}]> : tensor<32x64xf32>
    %3 = call @diff(%2) : (tensor<32x64xf32>) -> tensor<32x63xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x63xf32>, tensor<f32>) -> tensor<f32>
    return %1, %4 : tensor<64xf32>, tensor<f32>
  }
  func.func private @closed_call(%arg0: tensor<32x64xf32>) -> tensor<32x64xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<32x64xf32>
    return %0 : tensor<32x64xf32>
  }
  func.func private @diff(%arg0: tensor<32x64xf32>) -> tensor<32x63xf32> {
    %0 = stablehlo.slice %arg0 [0:32, 1:64] : (tensor<32x64xf32>) -> tensor<32x63xf32>
    %1 = stablehlo.slice %arg0 [0:32, 0:63] : (tensor<32x64xf32>) -> tensor<32x63xf32>
    %2 = stablehlo.subtract %0, %1 : tensor<32x63xf32>
    return %2 : tensor<32x63xf32>
  }
}
