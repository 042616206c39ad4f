#loc1 = loc(#loc2)
module @jit_f {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%arg0: tensor<8xf32> {sdy.sharding = #a}) -> tensor<8xf32> {
    %0 = stablehlo.sine %arg0 : tensor<8xf32> loc(#loc1)
    return %0 : tensor<8xf32>
  }
}
#a = #b
#b = #a
#loc2 = loc("f"(#loc1))
