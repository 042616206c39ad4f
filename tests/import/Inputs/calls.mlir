// What custom calls call: the greatest, not missing any; rows that go to others, as many as is said.
module @jit_f attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func @greater(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }
  func.func public @main(%v: tensor<8x2xf32>, %to: tensor<32x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>, tensor<32x2xf32>) {
    %x = stablehlo.constant dense<[[3.0, 1.0, 4.0, 1.0, 5.0], [9.0, 2.0, 6.0, 5.0, 9.0]]> : tensor<2x5xf32>
    %at = stablehlo.iota dim = 1 : tensor<2x5xi32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<-1> : tensor<i32>
    %top:2 = stablehlo.custom_call @ApproxTopK(%x, %at, %low, %none) {backend_config = "", called_computations = [@greater], mhlo.backend_config = {aggregate_to_topk = true, recall_target = 0.949999988 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 2 : i64}} : (tensor<2x5xf32>, tensor<2x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
    %from = stablehlo.constant dense<[[0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]]> : tensor<8x4xi32>
    %sent = stablehlo.constant dense<[[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]> : tensor<8x4xi32>
    %there = stablehlo.constant dense<2> : tensor<8x4xi32>
    %moved = sdy.manual_computation(%v, %to, %from, %sent, %there, %sent) in_shardings=[<@mesh, [{"x", "y"}, {}]>, <@mesh, [{"x", "y"}, {}]>, <@mesh, [{"x", "y"}, {}]>, <@mesh, [{"x", "y"}, {}]>, <@mesh, [{"x", "y"}, {}]>, <@mesh, [{"x", "y"}, {}]>] out_shardings=[<@mesh, [{"x", "y"}, {}]>] manual_axes={"x", "y"} (%a: tensor<1x2xf32>, %b: tensor<4x2xf32>, %c: tensor<1x4xi32>, %d: tensor<1x4xi32>, %e: tensor<1x4xi32>, %f: tensor<1x4xi32>) {
      %1 = stablehlo.reshape %c : (tensor<1x4xi32>) -> tensor<4xi32>
      %2 = stablehlo.reshape %d : (tensor<1x4xi32>) -> tensor<4xi32>
      %3 = stablehlo.reshape %e : (tensor<1x4xi32>) -> tensor<4xi32>
      %4 = stablehlo.reshape %f : (tensor<1x4xi32>) -> tensor<4xi32>
      %5 = stablehlo.custom_call @ragged_all_to_all(%a, %b, %1, %2, %3, %4) {api_version = 4 : i32, backend_config = {channel_id = 1 : i64, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}} : (tensor<1x2xf32>, tensor<4x2xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4x2xf32>
      sdy.return %5 : tensor<4x2xf32>
    } : (tensor<8x2xf32>, tensor<32x2xf32>, tensor<8x4xi32>, tensor<8x4xi32>, tensor<8x4xi32>, tensor<8x4xi32>) -> tensor<32x2xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    return %top#0, %top#1, %moved : tensor<2x2xf32>, tensor<2x2xi32>, tensor<32x2xf32>
  }
}
