"""The other side of the gRPC tests, by grpcio: `peer.py serve PATH` or `peer.py call PATH METHOD TEXT TIMES`.

Messages are those of echo_test.proto, encoded by hand so that nothing has to be generated.
"""
import sys
import threading
import time
from concurrent import futures

import grpc


def encode(text, number):
    raw = text.encode()
    assert len(raw) < 128 and 0 <= number < 128
    return (b"\x0a" + bytes([len(raw)]) + raw if raw else b"") + (b"\x10" + bytes([number]) if number else b"")


def decode(data):
    text, number = "", 0
    while data:
        if data[0] == 0x0A:
            text, data = data[2 : 2 + data[1]].decode(), data[2 + data[1] :]
        else:
            number, data = data[1], data[2:]
    return text, number


def echo(request, context):
    text, _ = decode(request)
    if text == "refuse":
        context.abort(grpc.StatusCode.NOT_FOUND, "no such text: %d%% sure \u2603" % 100)
    if text == "sleep":
        time.sleep(30)
    return encode(text, 0)


def count(request, context):
    text, times = decode(request)
    for number in range(1, times + 1):
        yield encode(text, number)
    if text == "hang":
        threading.Event().wait(30)


class Echo(grpc.GenericRpcHandler):
    def service(self, details):
        if details.method == "/gpuop.test.Echo/Echo":
            return grpc.unary_unary_rpc_method_handler(echo)
        if details.method == "/gpuop.test.Echo/Count":
            return grpc.unary_stream_rpc_method_handler(count)
        return None


def serve(path):
    server = grpc.server(futures.ThreadPoolExecutor(4), handlers=[Echo()])
    server.add_insecure_port("unix:" + path)
    server.start()
    server.wait_for_termination()


def call(path, method, text, times):
    with grpc.insecure_channel("unix:" + path) as channel:
        request = encode(text, int(times))
        try:
            if method.endswith("/Count"):
                for message in channel.unary_stream(method)(request, timeout=10):
                    print(*decode(message))
            else:
                print(*decode(channel.unary_unary(method)(request, timeout=10)))
        except grpc.RpcError as error:
            print(error.code().name, error.details())


if __name__ == "__main__":
    {"serve": serve, "call": call}[sys.argv[1]](*sys.argv[2:])
