// The minimal SwiftNIO server for the same bytes, as a baseline for Tidings.
//
//   BareServer OK NOT_MODIFIED [raw]
//
// Sends one of two recorded responses (files with head and body as they were received): NOT_MODIFIED if the request has
// `If-None-Match`, else OK. With `raw`, requests are not decoded. Prints the port it listens on; SIGTERM ends it.

import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

let isRaw = CommandLine.arguments.count == 4 && CommandLine.arguments[3] == "raw"
guard CommandLine.arguments.count == 3 || isRaw else {
  throw RecordedResponse.Malformed("BareServer needs two files: the response to send, and the one for If-None-Match")
}
let responses = try CommandLine.arguments[1...2].map { try RecordedResponse(contentsOf: URL(filePath: $0)) }

// Threads, socket options, and the HTTP decoder and encoder are the same as in Hummingbird.
let server = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
  .serverChannelOption(.backlog, value: 256)
  .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
  .childChannelOption(.allowRemoteHalfClosure, value: true)
  .childChannelInitializer { [responses, isRaw] channel in
    channel.eventLoop.makeCompletedFuture {
      let pipeline = channel.pipeline.syncOperations
      if isRaw { return try pipeline.addHandler(RawReplayHandler(ok: responses[0], notModified: responses[1])) }
      try pipeline.configureHTTPServerPipeline(
        withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false)
      try pipeline.addHandler(ReplayHandler(ok: responses[0], notModified: responses[1]))
    }
  }
  .bind(host: "127.0.0.1", port: 0)
  .wait()

try FileHandle.standardOutput.write(contentsOf: Data("\(server.localAddress?.port ?? 0)\n".utf8))
try server.closeFuture.wait()
