// Functions of floats that are formulas, of what is small, large and in between.
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %x = stablehlo.constant dense<[1.0e-4, -2.0, 5.0, 0.5]> : tensor<4xf32>
    %0 = chlo.sinh %x : tensor<4xf32> -> tensor<4xf32>
    %1 = chlo.cosh %x : tensor<4xf32> -> tensor<4xf32>
    %2 = chlo.asinh %x : tensor<4xf32> -> tensor<4xf32>
    %3 = chlo.acosh %x : tensor<4xf32> -> tensor<4xf32>
    %4 = chlo.atanh %x : tensor<4xf32> -> tensor<4xf32>
    %5 = chlo.erfc %x : tensor<4xf32> -> tensor<4xf32>
    return %0, %1, %2, %3, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}
