module @jit_f attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func public @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
    %v = stablehlo.tanh %x : tensor<8x8xf32>
    %placed = sdy.sharding_constraint %v <@mesh, [{"y"}, {}]> : tensor<8x8xf32>
    %inside = sdy.manual_computation(%v) in_shardings=[<@mesh, [{}, {"y"}]>] out_shardings=[<@mesh, [{}, {"y"}]>] manual_axes={"x", "y"} (%a: tensor<8x2xf32>) {
      %b = stablehlo.negate %a : tensor<8x2xf32>
      sdy.return %b : tensor<8x2xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %w = stablehlo.sine %v : tensor<8x8xf32>
    return %w, %placed, %inside : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
}
