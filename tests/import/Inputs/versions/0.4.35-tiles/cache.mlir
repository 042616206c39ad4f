module @jit_cache attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x8xf32> {mhlo.sharding = "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"}, %arg1: tensor<1x8xf32> {mhlo.sharding = "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"}, %arg2: tensor<i32> {mhlo.sharding = "{replicated}"}) -> (tensor<16x8xf32> {jax.result_info = "[0]"}, tensor<16x8xf32> {jax.result_info = "[1]"}, tensor<16x8xf32> {jax.result_info = "[2]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare  LT, %arg2, %c,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<16> : tensor<i32>
    %1 = stablehlo.add %arg2, %c_0 : tensor<i32>
    %2 = stablehlo.select %0, %1, %arg2 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.dynamic_update_slice %arg0, %arg1, %2, %c_1 : (tensor<16x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<16x8xf32>
    %4 = stablehlo.iota dim = 0 : tensor<16xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<16xi32>) -> tensor<16x1xi32>
    %6 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<i32>) -> tensor<16x1xi32>
    %7 = stablehlo.compare  LE, %5, %6,  SIGNED : (tensor<16x1xi32>, tensor<16x1xi32>) -> tensor<16x1xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %8 = call @_where(%7, %3, %c_2) : (tensor<16x1xi1>, tensor<16x8xf32>, tensor<i32>) -> tensor<16x8xf32>
    %c_3 = stablehlo.constant dense<3> : tensor<i32>
    %9 = stablehlo.compare  GT, %arg2, %c_3,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %10 = stablehlo.convert %9 : (tensor<i1>) -> tensor<i32>
    %11 = "stablehlo.case"(%10) ({
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %13 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
      %14 = stablehlo.add %8, %13 : tensor<16x8xf32>
      stablehlo.return %14 : tensor<16x8xf32>
    }, {
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %13 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
      %14 = stablehlo.multiply %8, %13 : tensor<16x8xf32>
      stablehlo.return %14 : tensor<16x8xf32>
    }) : (tensor<i32>) -> tensor<16x8xf32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %12:3 = stablehlo.while(%iterArg = %c_5, %iterArg_6 = %c_4, %iterArg_7 = %8) : tensor<i32>, tensor<i32>, tensor<16x8xf32>
     cond {
      %c_8 = stablehlo.constant dense<3> : tensor<i32>
      %13 = stablehlo.compare  LT, %iterArg, %c_8,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %13 : tensor<i1>
    } do {
      %13:2 = func.call @None(%iterArg_6, %iterArg_7) : (tensor<i32>, tensor<16x8xf32>) -> (tensor<i32>, tensor<16x8xf32>)
      %c_8 = stablehlo.constant dense<1> : tensor<i32>
      %14 = stablehlo.add %iterArg, %c_8 : tensor<i32>
      stablehlo.return %14, %13#0, %13#1 : tensor<i32>, tensor<i32>, tensor<16x8xf32>
    }
    return %3, %11, %12#2 : tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>
  }
  func.func private @_where(%arg0: tensor<16x1xi1>, %arg1: tensor<16x8xf32>, %arg2: tensor<i32>) -> tensor<16x8xf32> {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<16x1xi1>) -> tensor<16x8xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<16x8xi1>, tensor<16x8xf32>
    return %3 : tensor<16x8xf32>
  }
  func.func private @None(%arg0: tensor<i32>, %arg1: tensor<16x8xf32>) -> (tensor<i32>, tensor<16x8xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg0, %c : tensor<i32>
    %1 = stablehlo.convert %arg0 : (tensor<i32>) -> tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
    %3 = stablehlo.add %arg1, %2 : tensor<16x8xf32>
    return %0, %3 : tensor<i32>, tensor<16x8xf32>
  }
}
