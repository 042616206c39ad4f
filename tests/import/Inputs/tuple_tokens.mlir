module @jit_h attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: !stablehlo.token {jax.token = true}, %arg1: tensor<8x16xf32>) -> (!stablehlo.token {jax.token = true}, tensor<8x16xf32> {jax.result_info = ""}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg1 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<f32>
    %c = stablehlo.constant dense<1> : tensor<i64>
    %1 = stablehlo.custom_call @xla_python_cpu_callback(%c, %arg0, %0) {api_version = 2 : i32, backend_config = "1", has_side_effect = true, operand_layouts = [dense<> : tensor<0xindex>, dense<> : tensor<0xindex>, dense<> : tensor<0xindex>], result_layouts = [dense<> : tensor<0xindex>]} : (tensor<i64>, !stablehlo.token, tensor<f32>) -> tuple<!stablehlo.token>
    %2 = stablehlo.get_tuple_element %1[0] : (tuple<!stablehlo.token>) -> !stablehlo.token
    %c_0 = stablehlo.constant dense<1> : tensor<i64>
    %3 = stablehlo.custom_call @xla_python_cpu_callback(%c_0, %2, %0) {api_version = 2 : i32, backend_config = "1", has_side_effect = true, operand_layouts = [dense<> : tensor<0xindex>, dense<> : tensor<0xindex>, dense<> : tensor<0xindex>], result_layouts = [dense<> : tensor<0xindex>]} : (tensor<i64>, !stablehlo.token, tensor<f32>) -> tuple<!stablehlo.token>
    %4 = stablehlo.get_tuple_element %3[0] : (tuple<!stablehlo.token>) -> !stablehlo.token
    %5 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %6 = stablehlo.multiply %arg1, %5 : tensor<8x16xf32>
    return %4, %6 : !stablehlo.token, tensor<8x16xf32>
  }
}
