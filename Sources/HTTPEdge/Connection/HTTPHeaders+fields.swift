import HTTPTypes
import NIOHTTP1

extension HTTPHeaders {
  /// Creates headers with the same fields in the same order.
  init(_ fields: HTTPFields) {
    self.init(fields.map { ($0.name.rawName, $0.value) })
  }
}
