// Functions of floats that are formulas, of what is small, large and in between.
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf64>, tensor<6xf32>) {
    %x = stablehlo.constant dense<[1.0e-4, -2.0, 5.0, 0.5]> : tensor<4xf32>
    %0 = chlo.sinh %x : tensor<4xf32> -> tensor<4xf32>
    %1 = chlo.cosh %x : tensor<4xf32> -> tensor<4xf32>
    %2 = chlo.asinh %x : tensor<4xf32> -> tensor<4xf32>
    %3 = chlo.acosh %x : tensor<4xf32> -> tensor<4xf32>
    %4 = chlo.atanh %x : tensor<4xf32> -> tensor<4xf32>
    %5 = chlo.erfc %x : tensor<4xf32> -> tensor<4xf32>
    %g = stablehlo.constant dense<[-2.0, -1.5, 0.25, 1.0, 7.0, 0x7F800000]> : tensor<6xf32>
    %w = stablehlo.constant dense<[-27.5, -0.5, 0.5, 2.0, 9.0, 26.0]> : tensor<6xf64>
    %w32 = stablehlo.convert %w : (tensor<6xf64>) -> tensor<6xf32>
    %6 = chlo.lgamma %g : tensor<6xf32> -> tensor<6xf32>
    %7 = chlo.digamma %g : tensor<6xf32> -> tensor<6xf32>
    %8 = chlo.erfc %w : tensor<6xf64> -> tensor<6xf64>
    %9 = chlo.bessel_i1e %w32 : tensor<6xf32> -> tensor<6xf32>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf64>, tensor<6xf32>
  }
}
