#loc = loc("t.py":1:0)
#loc1 = loc("t.py":3:4 to :9)
#loc2 = loc("t.py":4:4 to :9)
#loc3 = loc("jit(f)/jit"(#loc1))
#loc4 = loc("jit(f)/dot_general"(#loc2))
#loc5 = loc("jit(f)/sharding_constraint"(#loc1))
module @jit_f {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<512x512xf32>) -> (tensor<512x512xf32>) {
    %0 = call @g(%arg0) : (tensor<512x512xf32>) -> tensor<512x512xf32> loc(#loc3)
    %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32> loc(#loc4)
    return %1 : tensor<512x512xf32> loc(#loc)
  }
  func.func private @g(%arg0: tensor<512x512xf32>) -> (tensor<512x512xf32>) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{}, {"x"}]> : tensor<512x512xf32> loc(#loc3)
    return %0 : tensor<512x512xf32> loc(#loc3)
  }
}
