// max(x w, 0), and two schedules for it: what to compute is a function, how to is another.
module attributes {transform.with_named_sequence} {
  func.func @layer(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>) -> tensor<8x32xf32> {
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<8x32xf32>
    %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x32xf32>) -> tensor<8x32xf32>
    %product = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x32xf32>)
                             outs(%start : tensor<8x32xf32>) -> tensor<8x32xf32>
    %result = linalg.max ins(%product, %start : tensor<8x32xf32>, tensor<8x32xf32>)
                         outs(%empty : tensor<8x32xf32>) -> tensor<8x32xf32>
    return %result : tensor<8x32xf32>
  }

  // Tiles of 4 x 8 of the result; the product is computed inside the loops, tile by tile.
  transform.named_sequence @tile(%root: !transform.any_op) {
    %relu = transform.structured.match ops{["linalg.max"]} in %root
      : (!transform.any_op) -> !transform.any_op
    %product = transform.structured.match ops{["linalg.matmul"]} in %root
      : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.tile_using_for %relu tile_sizes [4, 8]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %inside, %loop = transform.structured.fuse_into_containing_op %product into %loops#1
      : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }

  transform.named_sequence @vectorise(%root: !transform.any_op) {
    %function = transform.structured.match ops{["func.func"]} in %root
      : (!transform.any_op) -> !transform.any_op
    %done = transform.structured.vectorize_children_and_apply_patterns %function
      : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %done {
      transform.apply_patterns.vector.lower_contraction lowering_strategy = "outerproduct"
      transform.apply_patterns.vector.lower_outerproduct
      transform.apply_patterns.vector.lower_transpose lowering_strategy = "eltwise"
    } : !transform.any_op
    transform.yield
  }
}
