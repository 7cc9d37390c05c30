import HTTPEdge
import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1

/// A connection of a server in an embedded channel, with a decoder and an encoder.
final class TestConnection {
  let channel: EmbeddedChannel
  /// The number of reads that have reached the socket.
  var reads: Int { socket.reads }
  private let socket = Socket()

  /// - Parameter recognizes: Whether plain requests are answered before the decoder.
  init(
    _ responder: any EarlyResponder = NoEarlyResponses(), client: AddressLimits.Client = .unlimited,
    limits: AddressLimits? = nil, recognizes: Bool = true
  ) throws {
    var services = EdgeServices(responder: responder) { refusal, _ in
      RefusalResponse(
        status: refusal == .timeout ? .requestTimeout : .badRequest, fields: [:],
        body: ByteBuffer(string: "\(refusal)"))
    }
    services.addressLimits = limits
    let connection = ConnectionHandler(services: services, client: client, logger: Logger(label: "test"))
    let recognizer: [any ChannelHandler] = recognizes ? [RequestRecognizer(connection)] : []
    channel = EmbeddedChannel(
      handlers: [socket] + recognizer + [
        HTTPResponseEncoder(), ByteToMessageHandler(HTTPRequestDecoder()), connection,
      ])
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
  }

  /// Receives bytes from the client.
  func receive(_ text: String) throws {
    try channel.writeInbound(ByteBuffer(string: text))
  }

  func receive(_ bytes: some Sequence<UInt8>) throws {
    try channel.writeInbound(ByteBuffer(bytes: bytes))
  }

  /// Answers a request as the router would.
  func respond() throws {
    let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "0"])
    try channel.writeOutbound(HTTPServerResponsePart.head(head))
    try channel.writeOutbound(HTTPServerResponsePart.end(nil))
  }

  /// Returns the text sent since the last call.
  func sent() throws -> String {
    var text = ""
    while let part = try channel.readOutbound(as: IOData.self) {
      if case .byteBuffer(let buffer) = part { text += String(buffer: buffer) }
    }
    return text
  }

  /// Returns the targets of the requests that the router has received since the last call.
  func routed() throws -> [String] {
    var targets: [String] = []
    while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
      if case .head(let head) = part { targets.append(head.uri) }
    }
    return targets
  }

  /// Reports that the handler of the request reads its body.
  func startReadingBody() throws {
    try channel.triggerUserOutboundEvent(ConnectionHandler.Event.bodyReadStarted).wait()
  }

  func advance(by time: TimeAmount) { channel.embeddedEventLoop.advanceTime(by: time) }
}

/// Leaves every request to the router.
struct NoEarlyResponses: EarlyResponder {
  var generation: Int { 0 }
  func lookUp(_ request: PlainRequest, isNew: Bool) -> EarlyLookup? { nil }
  func deferral(of head: HTTPRequestHead) -> EarlyDeferral? { nil }
  func beginShutdown() {}
}

/// Counts the read requests of the server.
private final class Socket: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer
  var reads = 0

  func read(context: ChannelHandlerContext) {
    reads += 1
    context.read()
  }
}
