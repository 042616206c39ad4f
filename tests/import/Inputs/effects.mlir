// jax.debug.print, and ordered as a token has it; in a call, a loop, a choice.
module @jit_effects {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(%arg0: !stablehlo.token {jax.token = true} loc(unknown), %arg1: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x")) -> (!stablehlo.token {jax.token = true}, tensor<8x4xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<3> : tensor<i32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    stablehlo.custom_call @xla_ffi_python_cpu_callback(%arg1) {has_side_effect = true} : (tensor<8x4xf32>) -> ()
    %0 = stablehlo.create_token : !stablehlo.token
    %1 = stablehlo.after_all %0, %arg0 : !stablehlo.token
    %2:2 = call @told(%1, %arg1) : (!stablehlo.token, tensor<8x4xf32>) -> (!stablehlo.token, tensor<8x4xf32>)
    %3:3 = stablehlo.while(%iterArg = %2#0, %iterArg_0 = %c, %iterArg_1 = %2#1) : !stablehlo.token, tensor<i32>, tensor<8x4xf32>
    cond {
      %6 = stablehlo.compare LT, %iterArg_0, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    } do {
      %6:2 = func.call @told(%iterArg, %iterArg_1) : (!stablehlo.token, tensor<8x4xf32>) -> (!stablehlo.token, tensor<8x4xf32>)
      %7 = stablehlo.add %iterArg_0, %c_1 : tensor<i32>
      stablehlo.return %6#0, %7, %6#1 : !stablehlo.token, tensor<i32>, tensor<8x4xf32>
    }
    %4:2 = "stablehlo.case"(%3#1) ({
      stablehlo.return %3#0, %3#2 : !stablehlo.token, tensor<8x4xf32>
    }, {
      %6:2 = func.call @told(%3#0, %3#2) : (!stablehlo.token, tensor<8x4xf32>) -> (!stablehlo.token, tensor<8x4xf32>)
      stablehlo.return %6#0, %6#1 : !stablehlo.token, tensor<8x4xf32>
    }) : (tensor<i32>) -> (!stablehlo.token, tensor<8x4xf32>)
    "stablehlo.case"(%c_1) ({
      stablehlo.return
    }, {
      stablehlo.custom_call @xla_ffi_python_cpu_callback(%arg1) {has_side_effect = true} : (tensor<8x4xf32>) -> ()
      stablehlo.return
    }) : (tensor<i32>) -> ()
    return %4#0, %4#1 : !stablehlo.token, tensor<8x4xf32>
  }
  func.func private @told(%arg0: !stablehlo.token, %arg1: tensor<8x4xf32>) -> (!stablehlo.token, tensor<8x4xf32>) {
    %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%arg0, %arg1) {has_side_effect = true} : (!stablehlo.token, tensor<8x4xf32>) -> !stablehlo.token
    %1 = stablehlo.add %arg1, %arg1 : tensor<8x4xf32>
    return %0, %1 : !stablehlo.token, tensor<8x4xf32>
  }
}
