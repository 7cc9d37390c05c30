// The servers for tidings.vcl. Requests go to all servers that are ready, in turn. For each further server, add a backend
// and a line in vcl_init.
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
