// Around no elements: what a padding, or a sum, begins with; as gradients of scans have it.
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<2xf32>) {
    %five = stablehlo.constant dense<5.0> : tensor<f32>
    %none = stablehlo.slice %x [0:2, 4:4] : (tensor<2x4xf32>) -> tensor<2x0xf32>
    %pad = stablehlo.pad %none, %five, low = [0, 2], high = [0, 1], interior = [0, 1] : (tensor<2x0xf32>, tensor<f32>) -> tensor<2x3xf32>
    %sum = stablehlo.reduce(%none init: %five) applies stablehlo.add across dimensions = [1] : (tensor<2x0xf32>, tensor<f32>) -> tensor<2xf32>
    return %pad, %sum : tensor<2x3xf32>, tensor<2xf32>
  }
}
