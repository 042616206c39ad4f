module @late attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["X"=4, "Y"=2]>
  func.func public @main(
      %p: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"X"}]>},
      %q: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"X"}]>},
      %r: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"X"}]>},
      %s: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"X"}]>})
      -> (tensor<8xf32> {jax.result_info = "padded"},
          tensor<8xf32> {jax.result_info = "joined"},
          tensor<8xf32> {jax.result_info = "cut"},
          tensor<8xf32> {jax.result_info = "shown"},
          tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"Y"}]>},
          tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"Y"}]>},
          tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"Y"}]>},
          tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"Y"}]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %zeros = stablehlo.constant dense<0.0> : tensor<1xf32>
    %p0 = stablehlo.slice %p [0:16:2] : (tensor<16xf32>) -> tensor<8xf32>
    %q0 = stablehlo.slice %q [0:16:2] : (tensor<16xf32>) -> tensor<8xf32>
    %r0 = stablehlo.slice %r [0:16:2] : (tensor<16xf32>) -> tensor<8xf32>
    %s0 = stablehlo.slice %s [0:16:2] : (tensor<16xf32>) -> tensor<8xf32>
    %padded = stablehlo.negate %p0 : tensor<8xf32>
    %joined = stablehlo.negate %q0 : tensor<8xf32>
    %cut = stablehlo.negate %r0 : tensor<8xf32>
    %shown = stablehlo.negate %s0 : tensor<8xf32>
    %p1 = stablehlo.pad %padded, %zero, low = [1], high = [-1], interior = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %q1 = stablehlo.slice %joined [0:7] : (tensor<8xf32>) -> tensor<7xf32>
    %q2 = stablehlo.concatenate %zeros, %q1, dim = 0 : (tensor<1xf32>, tensor<7xf32>) -> tensor<8xf32>
    %r1 = stablehlo.slice %cut [0:7] : (tensor<8xf32>) -> tensor<7xf32>
    %r2 = stablehlo.pad %r1, %zero, low = [1], high = [0], interior = [0] : (tensor<7xf32>, tensor<f32>) -> tensor<8xf32>
    %s1 = stablehlo.pad %shown, %zero, low = [1], high = [0], interior = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<9xf32>
    %s2 = stablehlo.slice %s1 [0:8] : (tensor<9xf32>) -> tensor<8xf32>
    return %padded, %joined, %cut, %shown, %p1, %q2, %r2, %s2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}
