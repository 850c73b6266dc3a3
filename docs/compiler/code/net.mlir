// Three layers with one weight, then two heads that do not need each other.
#id = affine_map<(i, j) -> (i, j)>
func.func @net(%x: tensor<8x128xf32>, %w: tensor<128x128xf32>,
               %p: tensor<128x32xf32>, %q: tensor<128x16xf32>)
    -> (tensor<8x32xf32>, tensor<8x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<8x128xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x128xf32>) -> tensor<8x128xf32>
  %m1 = linalg.matmul ins(%x, %w : tensor<8x128xf32>, tensor<128x128xf32>)
      outs(%f1 : tensor<8x128xf32>) -> tensor<8x128xf32>
  %h1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m1 : tensor<8x128xf32>) outs(%e1 : tensor<8x128xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.maximumf %v, %zero : f32
    linalg.yield %r : f32
  } -> tensor<8x128xf32>
  %e2 = tensor.empty() : tensor<8x128xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8x128xf32>) -> tensor<8x128xf32>
  %m2 = linalg.matmul ins(%h1, %w : tensor<8x128xf32>, tensor<128x128xf32>)
      outs(%f2 : tensor<8x128xf32>) -> tensor<8x128xf32>
  %h2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m2 : tensor<8x128xf32>) outs(%e2 : tensor<8x128xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.maximumf %v, %zero : f32
    linalg.yield %r : f32
  } -> tensor<8x128xf32>
  %e3 = tensor.empty() : tensor<8x128xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<8x128xf32>) -> tensor<8x128xf32>
  %m3 = linalg.matmul ins(%h2, %w : tensor<8x128xf32>, tensor<128x128xf32>)
      outs(%f3 : tensor<8x128xf32>) -> tensor<8x128xf32>
  %h3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m3 : tensor<8x128xf32>) outs(%e3 : tensor<8x128xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.maximumf %v, %zero : f32
    linalg.yield %r : f32
  } -> tensor<8x128xf32>
  %ep = tensor.empty() : tensor<8x32xf32>
  %fp = linalg.fill ins(%zero : f32) outs(%ep : tensor<8x32xf32>) -> tensor<8x32xf32>
  %yp = linalg.matmul ins(%h3, %p : tensor<8x128xf32>, tensor<128x32xf32>)
      outs(%fp : tensor<8x32xf32>) -> tensor<8x32xf32>
  %eq = tensor.empty() : tensor<8x16xf32>
  %fq = linalg.fill ins(%zero : f32) outs(%eq : tensor<8x16xf32>) -> tensor<8x16xf32>
  %yq = linalg.matmul ins(%h3, %q : tensor<8x128xf32>, tensor<128x16xf32>)
      outs(%fq : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %yp, %yq : tensor<8x32xf32>, tensor<8x16xf32>
}
