import FaultServer
import Foundation
import Synchronization

/// A server that receives uploads in several requests.
final class PartServer: Sendable {
  struct State {
    var received = Data()
    var isComplete = false
    var exists = true
    /// The number of bytes of the next PATCH after which its connection breaks.
    var breaksAfter: Int?
  }

  let state = Mutex(State())
  let location: String
  private let base: URL

  init(_ fixture: TransferFixture, location: String = "/uploads/7") {
    (self.location, base) = (location, fixture.url)
  }

  @Sendable func respond(_ original: FaultResponse, _ request: FaultRequest, _ number: Int) -> FaultResponse {
    state.withLock { state in
      switch request.method {
      case "OPTIONS": answer(204, state)
      case "POST": begin(&state)
      case _ where !state.exists: FaultResponse(status: 404)
      case "HEAD": answer(204, state)
      case "PATCH": append(request, &state)
      case "DELETE": delete(&state)
      default: FaultResponse(status: 405)
      }
    }
  }

  private func begin(_ state: inout State) -> FaultResponse {
    (state.received, state.isComplete, state.exists) = (Data(), false, true)
    return answer(201, state).setting("Location", location)
  }

  private func append(_ request: FaultRequest, _ state: inout State) -> FaultResponse {
    guard request["Upload-Offset"] == "\(state.received.count)" else { return answer(409, state) }
    if let limit = state.breaksAfter {
      state.breaksAfter = nil
      state.received += request.body.prefix(limit)
      return FaultResponse(status: 500).resetting(at: .start)
    }
    state.received += request.body
    state.isComplete = true
    return answer(201, state).setting("Location", "/v1/media/1")
  }

  private func delete(_ state: inout State) -> FaultResponse {
    state.exists = false
    return FaultResponse(status: 204)
  }

  private func answer(_ status: Int, _ state: State) -> FaultResponse {
    FaultResponse(
      status: status,
      headers: [
        ("Upload-Draft-Interop-Version", "6"), ("Upload-Offset", "\(state.received.count)"),
        ("Upload-Complete", state.isComplete ? "?1" : "?0"),
      ])
  }
}
