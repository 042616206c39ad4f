module @jit_f attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "one"=1, "model"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "one", size = 1 : i64}, {name = "model", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<8x4xf32> {jax.result_info = "result[0]"}, tensor<8x4xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0], [1], [2], [3], [4], [5], [6], [7]]> : tensor<8x1xi64>, use_global_device_ids}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0], [1], [2], [3], [4], [5], [6], [7]]> : tensor<8x1xi64>, use_global_device_ids}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %22 = stablehlo.add %arg1, %arg2 : tensor<f32>
      %23 = sdy.sharding_constraint %22 <@mesh, []> : tensor<f32>
      stablehlo.return %23 : tensor<f32>
    }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.add %c, %c_0 : tensor<i32>
    %3 = sdy.sharding_constraint %2 <@mesh, []> : tensor<i32>
    %4 = stablehlo.convert %3 : (tensor<i32>) -> tensor<f32>
    %5 = sdy.sharding_constraint %4 <@mesh, []> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
    %7 = sdy.sharding_constraint %6 <@mesh, [{?}, {?}]> : tensor<8x4xf32>
    %8 = stablehlo.multiply %1, %7 : tensor<8x4xf32>
    %9 = sdy.sharding_constraint %8 <@mesh, [{?}, {?}]> : tensor<8x4xf32>
    %10 = stablehlo.add %0, %9 : tensor<8x4xf32>
    %11 = sdy.sharding_constraint %10 <@mesh, [{?}, {?}]> : tensor<8x4xf32>
    %12 = "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 0], [1, 1], [2, 2], [3, 3], [4, 4], [5, 5], [6, 6], [7, 7]]> : tensor<8x2xi64>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %13 = "stablehlo.reduce_scatter"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0], [1], [2], [3], [4], [5], [6], [7]]> : tensor<8x1xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %22 = stablehlo.add %arg1, %arg2 : tensor<f32>
      %23 = sdy.sharding_constraint %22 <@mesh, []> : tensor<f32>
      stablehlo.return %23 : tensor<f32>
    }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %14 = stablehlo.add %12, %13 : tensor<8x4xf32>
    %15 = sdy.sharding_constraint %14 <@mesh, [{?}, {?}]> : tensor<8x4xf32>
    %16 = stablehlo.add %15, %arg0 : tensor<8x4xf32>
    %17 = sdy.sharding_constraint %16 <@mesh, [{?}, {?}]> : tensor<8x4xf32>
    %18 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0], [1], [2], [3], [4], [5], [6], [7]]> : tensor<8x1xi64>, use_global_device_ids}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %22 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      %23 = sdy.sharding_constraint %22 <@mesh, []> : tensor<f32>
      stablehlo.return %23 : tensor<f32>
    }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %19 = stablehlo.add %17, %18 : tensor<8x4xf32>
    %20 = sdy.sharding_constraint %19 <@mesh, [{?}, {?}]> : tensor<8x4xf32>
    return %11, %20 : tensor<8x4xf32>, tensor<8x4xf32>
  }
}
