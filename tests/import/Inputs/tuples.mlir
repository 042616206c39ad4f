module @jit_g attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x16xf32> {mhlo.sharding = "{devices=[8,1]<=[8]}"}) -> (tensor<8x16xf32> {jax.result_info = ""}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.custom_call @xla_python_cpu_callback(%c, %arg0) {api_version = 2 : i32, backend_config = "1", mhlo.sharding = "{maximal device=0}", operand_layouts = [dense<> : tensor<0xindex>, dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>]} : (tensor<i64>, tensor<8x16xf32>) -> tuple<tensor<8x16xf32>, tensor<8xf32>>
    %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<8x16xf32>, tensor<8xf32>>) -> tensor<8x16xf32>
    %2 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<8x16xf32>, tensor<8xf32>>) -> tensor<8xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %4 = stablehlo.multiply %1, %3 : tensor<8x16xf32>
    %5 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x16xf32>
    %7 = stablehlo.add %4, %6 : tensor<8x16xf32>
    return %7 : tensor<8x16xf32>
  }
}
