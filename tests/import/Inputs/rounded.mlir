// What one format has and the other rounds: -0 is below 0, 65520 infinite in f16, 1 + 2^-11 is 1.
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<6xf64>, tensor<6xf32>, tensor<6xi1>) {
    %x = stablehlo.constant dense<[1.00048828125, 1.00146484375, 65520.0, -65519.0, 1.0e-5, -0.0]> : tensor<6xf64>
    %zero = stablehlo.constant dense<0.0> : tensor<6xf64>
    %y = stablehlo.convert %x : (tensor<6xf64>) -> tensor<6xf32>
    %half = stablehlo.reduce_precision %x, format = e5m10 : tensor<6xf64>
    %few = "stablehlo.reduce_precision"(%y) <{exponent_bits = 8 : i32, mantissa_bits = 1 : i32}> : (tensor<6xf32>) -> tensor<6xf32>
    %below = stablehlo.compare LT, %x, %zero, TOTALORDER : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xi1>
    return %half, %few, %below : tensor<6xf64>, tensor<6xf32>, tensor<6xi1>
  }
}
