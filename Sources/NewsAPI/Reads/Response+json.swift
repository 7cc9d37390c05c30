import Foundation
import HTTPTypes
import Hummingbird
import News

extension Response {
  /// Makes a JSON response without validators and compression, for one client.
  static func json(
    _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
  ) throws -> Response {
    var headers = headers
    headers[.contentType] = "application/json"
    let body = ByteBuffer(bytes: try NewsJSON.encode(value))
    return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
  }
}
