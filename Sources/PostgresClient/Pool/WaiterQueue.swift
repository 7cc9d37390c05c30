/// A first-in, first-out queue with removal from the middle.
struct WaiterQueue<Value> {
  private var values: [UInt64: Value] = [:]
  private var order: [UInt64] = []
  private var head = 0
  private var nextID: UInt64 = 0

  var count: Int { values.count }

  mutating func makeID() -> UInt64 {
    nextID += 1
    return nextID
  }

  mutating func append(_ value: Value, id: UInt64) {
    values[id] = value
    order.append(id)
  }

  mutating func remove(id: UInt64) -> Value? {
    values.removeValue(forKey: id)
  }

  var first: Value? {
    mutating get {
      skipRemoved()
      return head < order.count ? values[order[head]] : nil
    }
  }

  mutating func popFirst() -> Value? {
    skipRemoved()
    guard head < order.count else { return nil }
    head += 1
    return values.removeValue(forKey: order[head - 1])
  }

  mutating func removeAll() -> [Value] {
    defer {
      values = [:]
      order = []
      head = 0
    }
    return order[head...].compactMap { values[$0] }
  }

  private mutating func skipRemoved() {
    while head < order.count, values[order[head]] == nil { head += 1 }
    if head > 64, head * 2 > order.count {
      order.removeFirst(head)
      head = 0
    }
  }
}
