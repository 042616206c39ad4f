module @tree {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%x: tensor<2x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %i: tensor<2x5xi32>) -> (tensor<2xf32> {jax.result_info = "result['last']"}, tensor<2xi32> {jax.result_info = "result['at']"}, tensor<f32> {jax.result_info = "result['sum']"}, tensor<2x5xf32> {jax.result_info = "result['away']"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %none = stablehlo.constant dense<-1> : tensor<i32>
    %last:2 = "stablehlo.reduce"(%x, %i, %zero, %none) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %j: tensor<i32>, %b: tensor<f32>, %k: tensor<i32>):
      %minus = stablehlo.constant dense<0> : tensor<i32>
      %found = stablehlo.compare GE, %k, %minus, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %v = stablehlo.select %found, %b, %a : tensor<i1>, tensor<f32>
      %n = stablehlo.select %found, %k, %j : tensor<i1>, tensor<i32>
      stablehlo.return %v, %n : tensor<f32>, tensor<i32>
    }) : (tensor<2x5xf32>, tensor<2x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
    %sum = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      %t = stablehlo.negate %s : tensor<f32>
      %u = stablehlo.negate %t : tensor<f32>
      stablehlo.return %u : tensor<f32>
    }) : (tensor<2x5xf32>, tensor<f32>) -> tensor<f32>
    %half = stablehlo.constant dense<0.5> : tensor<f32>
    %halves = stablehlo.broadcast_in_dim %half, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %some = stablehlo.multiply %x, %halves : tensor<2x5xf32>
    %away = stablehlo.round_nearest_afz %some : tensor<2x5xf32>
    return %last#0, %last#1, %sum, %away : tensor<2xf32>, tensor<2xi32>, tensor<f32>, tensor<2x5xf32>
  }
}
