import HTTPTypes
import Hummingbird
import News

extension Response {
  /// Makes a JSON response without validators and compression, for one client.
  ///
  /// - Parameter write: Writes the body.
  static func json(
    status: HTTPResponse.Status = .ok, headers: HTTPFields = [:], _ write: (inout JSONWriter) throws -> Void
  ) rethrows -> Response {
    var headers = headers
    headers[.contentType] = "application/json"
    var json = JSONWriter(capacity: 1024)
    try write(&json)
    return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: json.bytes)))
  }
}
