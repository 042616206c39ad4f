// An axis of 3 is no part of axes of 2 and 3.
module @jit_uneven {
  sdy.mesh @mesh = <["x"=2, "y"=3]>
  sdy.mesh @mesh_0 = <["a"=3, "b"=2]>
  func.func public @main(%arg0: tensor<6x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<6x6xf32> {
    %0 = sdy.sharding_constraint %arg0 <@mesh_0, [{"a"}, {"b"}]> : tensor<6x6xf32>
    return %0 : tensor<6x6xf32>
  }
}
