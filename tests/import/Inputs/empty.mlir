// Of tensors with a dim of size 0: what a gradient of cumprod keeps of its last step; an argument
// and a result; a loop that carries one; a choice of one; what is written to, summed, put around.
module @jit_empty {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(%arg0: tensor<0x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("none"), %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x")) -> (tensor<8x0xf32> {jax.result_info = "result[0]"}, tensor<8x4xf32> {jax.result_info = "result[1]"}, tensor<4xf32> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<3> : tensor<i32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %cst = stablehlo.constant dense<5.000000e+00> : tensor<f32>
    %0:3 = call @parts(%arg1) : (tensor<8x4xf32>) -> (tensor<8x3xf32>, tensor<8x0xf32>, tensor<8x1xf32>)
    %1 = stablehlo.concatenate %0#0, %0#1, %0#2, dim = 1 : (tensor<8x3xf32>, tensor<8x0xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
    %2 = stablehlo.concatenate %arg0, %1, dim = 0 : (tensor<0x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %3:3 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %c, %iterArg_1 = %2) : tensor<0x4xf32>, tensor<i32>, tensor<8x4xf32>
    cond {
      %9 = stablehlo.compare LT, %iterArg_0, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %9 = stablehlo.add %iterArg, %iterArg : tensor<0x4xf32>
      %10 = stablehlo.add %iterArg_0, %c_1 : tensor<i32>
      %11 = stablehlo.add %iterArg_1, %iterArg_1 : tensor<8x4xf32>
      stablehlo.return %9, %10, %11 : tensor<0x4xf32>, tensor<i32>, tensor<8x4xf32>
    }
    %4:2 = "stablehlo.case"(%3#1) ({
      stablehlo.return %3#0, %3#2 : tensor<0x4xf32>, tensor<8x4xf32>
    }, {
      stablehlo.return %3#0, %3#2 : tensor<0x4xf32>, tensor<8x4xf32>
    }) : (tensor<i32>) -> (tensor<0x4xf32>, tensor<8x4xf32>)
    %5 = stablehlo.dynamic_update_slice %4#1, %4#0, %c, %c : (tensor<8x4xf32>, tensor<0x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
    %6 = stablehlo.reduce(%4#0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<0x4xf32>, tensor<f32>) -> tensor<4xf32>
    %7 = stablehlo.reduce(%4#0 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<0x4xf32>, tensor<f32>) -> tensor<f32>
    %8 = stablehlo.pad %4#0, %7, low = [8, 0], high = [0, 0], interior = [0, 0] : (tensor<0x4xf32>, tensor<f32>) -> tensor<8x4xf32>
    %12 = stablehlo.add %5, %8 : tensor<8x4xf32>
    return %0#1, %12, %6 : tensor<8x0xf32>, tensor<8x4xf32>, tensor<4xf32>
  }
  func.func private @parts(%arg0: tensor<8x4xf32>) -> (tensor<8x3xf32>, tensor<8x0xf32>, tensor<8x1xf32>) {
    %0 = stablehlo.slice %arg0 [0:8, 0:3] : (tensor<8x4xf32>) -> tensor<8x3xf32>
    %1 = stablehlo.slice %arg0 [0:8, 0:0] : (tensor<8x4xf32>) -> tensor<8x0xf32>
    %2 = stablehlo.slice %arg0 [0:8, 3:4] : (tensor<8x4xf32>) -> tensor<8x1xf32>
    return %0, %1, %2 : tensor<8x3xf32>, tensor<8x0xf32>, tensor<8x1xf32>
  }
}
