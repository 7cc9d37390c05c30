import Foundation
import HTTPTypes
import Hummingbird
import News

extension Response {
  /// An answer to nobody but the one who asks: no validators, no compression.
  static func json(
    _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
  ) throws -> Response {
    var headers = headers
    headers[.contentType] = "application/json"
    let body = ByteBuffer(bytes: try NewsJSON.encode(value))
    return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
  }
}
