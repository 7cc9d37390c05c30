// The API's processes, which tidings.vcl sends requests to. Of several, those that are ready take turns.
import directors;

probe ready {
  .url = "/readyz";
  .interval = 1s;
  .timeout = 2s;
  .window = 3;
  .threshold = 2;
  .initial = 2;
}

backend one {
  .host = "127.0.0.1";
  .port = "8080";
  .probe = ready;
}

sub vcl_init {
  new servers = directors.round_robin();
  servers.add_backend(one);
}
