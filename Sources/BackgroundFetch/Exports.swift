// The clock, the moments and the lock are part of this library's interface.
@_exported public import ProcessCoordination
