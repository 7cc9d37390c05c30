import FaultServer
import Foundation
import HTTPTransfer
import News
import TestKit
import TestSupport
import Testing

@Suite("tidings-fetch behind a proxy") struct ProxyTests {
  /// A proxy that tunnels with CONNECT, and a server with TLS. Both print their ports and what they receive.
  private static let servers = """
    import http.server, select, socket, ssl, sys, threading
    class Server(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.headers.get('If-None-Match'):
                self.send_response(304)
                return self.end_headers()
            body = sys.argv[1].encode()
            self.send_response(200)
            for name, value in [('Content-Type', 'application/json'), ('Sync-Token', '1k3x9qam9pkx.1'),
                                ('ETag', '"x"'), ('Content-Length', str(len(body)))]: self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
        def log_message(self, *_): pass
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Server)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2] + '/server.crt', sys.argv[2] + '/server.key')
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    listener = socket.create_server(('127.0.0.1', 0))
    print(f'ports {server.server_port} {listener.getsockname()[1]}', file=sys.stderr, flush=True)
    def tunnel(client):
        head = b''
        while b'\\r\\n\\r\\n' not in head: head += client.recv(4096)
        lines = head.decode().split('\\r\\n')
        secret = [line for line in lines if line.lower().startswith('proxy-authorization:')]
        print(lines[0], *secret, file=sys.stderr, flush=True)
        target = socket.create_connection(('127.0.0.1', server.server_port))
        client.sendall(b'HTTP/1.1 200 Connected\\r\\n\\r\\n')
        while True:
            for source in select.select([client, target], [], [])[0]:
                data = source.recv(65536)
                if not data: return client.close(), target.close()
                (target if source is client else client).sendall(data)
    while True: threading.Thread(target=tunnel, args=[listener.accept()[0]], daemon=True).start()
    """

  private static let python = "/usr/bin/python3"

  @Test(
    "reaches an https server by CONNECT, with credentials, and trusts the given authorities only for that server's chain",
    .enabled(if: FileManager.default.isExecutableFile(atPath: python), "needs python3"))
  func tunnel() async throws {
    try await withFolder([:]) { folder in
      let certificates = try TestCertificates(in: folder, host: "news.example")
      let item = NewsItem(
        id: UUID(), version: 1, date: Date(timeIntervalSince1970: 1_767_225_600), text: "Behind a proxy",
        updated: Date(timeIntervalSince1970: 1_767_225_600))
      let body = String(decoding: try NewsJSON.encode(ItemList(items: [item])), as: UTF8.self)
      let process = try ChildProcess(
        ["-c", Self.servers, body, folder.path], executable: Self.python, environment: ["PATH": "/usr/bin:/bin"])
      try await withResource(process, release: { await $0.kill() }) { process in
        var lines = process.errorLines.makeAsyncIterator()
        let ports = (await lines.next() ?? "").split(separator: " ").compactMap { Int($0) }
        try #require(ports.count == 2)
        // The name does not exist: only the proxy can reach it.
        try await Command.with(server: "https://news.example:\(ports[0])") { command in
          let proxy = "http://us%40er:pass@127.0.0.1:\(ports[1])"
          let options = ["--proxy", proxy, "fetch"]
          let untrusted = try await command.start(options).result()
          #expect(untrusted.status == 20)
          #expect(untrusted.output.contains("the server's certificate is not trusted"), "\(untrusted.output)")
          let trusted = try await command.start(["--ca-file", certificates.authority] + options).result()
          #expect(trusted.status == 0, "\(trusted.output)")
          #expect(try await command.run("list").output.contains("Behind a proxy"))
          var usual = command
          usual.variables = ["HTTPS_PROXY": proxy, "TIDINGS_FETCH_CA_FILE": certificates.authority]
          #expect(try await usual.run("fetch").status == 10)
          usual.variables = ["HTTPS_PROXY": proxy, "SSL_CERT_FILE": certificates.authority]
          #expect(try await usual.run("fetch").status == 10)
          usual.variables["no_proxy"] = "other.example,.news.example"
          let direct = try await usual.run("fetch")
          #expect(direct.status == 20)
          #expect(!direct.output.contains("through the proxy"), "\(direct.output)")
        }
        let expected =
          "CONNECT news.example:\(ports[0]) HTTP/1.1 proxy-authorization: Basic "
          + Data("us@er:pass".utf8).base64EncodedString()
        for _ in 0..<3 { #expect(await lines.next()?.lowercased() == expected.lowercased()) }
      }
    }
  }

  @Test("downloads through the proxy that its option names, in the process of the transfers, too")
  func download() async throws {
    try await FaultServer.with({ _ in FaultResponse(status: 403) }) { server in
      try await Command.with(server: "http://news.example") { command in
        let output = command.folder.appending(path: "x").path
        let words = ["--proxy", server.url, "download", "http://news.example/x", "--output", output]
        #expect(try await command.start(words).result().status == 0)
        let journal = try TransferJournal(store: command.folder)
        try await eventually("it has been refused") { try journal.transfer(1)?.failure != nil }
        let failure = try journal.transfer(1)?.failure ?? ""
        #expect(failure.contains("the proxy refused the connection (through the proxy 127.0.0.1:"), "\(failure)")
        #expect(server.requests.first?.target == "news.example:80")
        try journal.cancel(1)
      }
    }
  }

  @Test("tunnels http requests too, and explains a proxy that refuses or is down")
  func plain() async throws {
    try await FaultServer.with({ _ in FaultResponse(status: 403) }) { server in
      try await Command.with(server: "http://news.example") { command in
        var command = command
        command.variables = ["http_proxy": server.url]
        let refused = try await command.run("fetch")
        #expect(refused.status == 20)
        #expect(refused.output.contains("the proxy refused the connection (through the proxy 127.0.0.1:"))
        #expect(server.requests.map(\.method) == ["CONNECT"])
        #expect(server.requests.map(\.target) == ["news.example:80"])
        command.variables = ["http_proxy": "127.0.0.1:1"]
        let down = try await command.run("fetch")
        #expect(down.status == 20)
        #expect(
          down.output == "failed: no response from news.example: connection refused (through the proxy 127.0.0.1:1)\n")
      }
    }
  }
}
