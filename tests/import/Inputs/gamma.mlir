module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<[1.93976724, 1.97887802, 1.70766878, 1.61618662, 1.32956493, 0.625]> : tensor<6xf32>
    %0 = chlo.lgamma %cst : tensor<6xf32> -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}
