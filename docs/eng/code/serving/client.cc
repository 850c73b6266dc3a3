// The same service from C++: a stream with a deadline, read to its end or left early.
// Build: protoc --cpp_out and --grpc_out, then g++ with pkg-config grpc++ protobuf.
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <string>

#include "tokens.grpc.pb.h"

using handbook::serving::GenerateRequest;
using handbook::serving::Token;
using handbook::serving::Tokens;

// --8<-- [start:call]
// Asks for tokens, cancels after `enough`, and says how the call ended.
void ask(Tokens::Stub& stub, int tokens, int milliseconds, int enough) {
    grpc::ClientContext context;  // one for each call, never used twice
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(milliseconds));
    GenerateRequest request;
    request.set_prompt("all work and no play");
    request.set_max_tokens(tokens);

    auto reader = stub.Generate(&context, request);
    Token token;
    int count = 0;
    while (reader->Read(&token))
        if (++count == enough) context.TryCancel();
    grpc::Status status = reader->Finish();  // after Read has said false
    std::cout << "code " << status.error_code() << (count ? ", tokens came" : ", no token") << "\n";
}
// --8<-- [end:call]

int main(int argc, char** argv) {
    std::string address = argc > 1 ? argv[1] : "127.0.0.1:50051";
    auto channel = grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
    auto stub = Tokens::NewStub(channel);  // keep both for the life of the program
    ask(*stub, 5, 5000, 100);
    ask(*stub, 100, 300, 100);
    ask(*stub, 100, 5000, 3);
}
