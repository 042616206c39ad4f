module @jit_s attributes {mhlo.num_partitions = 6 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=3, "y"=2]>
  func.func public @main(%arg0: tensor<12x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<12x64xf32>) {
    %0 = stablehlo.add %arg0, %arg0 : tensor<12x64xf32>
    return %0 : tensor<12x64xf32>
  }
}
