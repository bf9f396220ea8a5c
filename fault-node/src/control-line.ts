import type { Duplex } from 'node:stream';

/** The file descriptor of the line in the broker's process. */
export const CONTROL_FD: number = 3;

/**
 * What the broker's process runs once it has booted: takes Erlang expressions from its file descriptor 3,
 * each with its length in four bytes before it, and answers with the value as text. It needs no second
 * virtual machine, so an answer takes a millisecond, where `rabbitmqctl` takes half a second and more. At the
 * end of the line it halts at once: whatever becomes of the process that started it, no node is left behind.
 */
export const CONTROL_PROGRAM: string = `
spawn(fun() ->
  Line = open_port({fd, ${CONTROL_FD}, ${CONTROL_FD}}, [{packet, 4}, binary, eof]),
  Evaluate = fun(Text) ->
    try
      {ok, Tokens, _} = erl_scan:string(unicode:characters_to_list(Text)),
      {ok, Expressions} = erl_parse:parse_exprs(Tokens),
      {value, Value, _} = erl_eval:exprs(Expressions, []),
      io_lib:format("ok ~0tp", [Value])
    catch Class:Reason -> io_lib:format("no ~0tp", [{Class, Reason}])
    end
  end,
  Serve = fun Again() ->
    receive
      {Line, eof} -> halt(1, [{flush, false}]);
      {Line, {data, Text}} ->
        port_command(Line, unicode:characters_to_binary(Evaluate(Text))),
        Again()
    end
  end,
  Serve()
end).`;

interface Question {
  resolve(answer: string): void;
  reject(error: Error): void;
}

/** This side of the line. Questions are answered in their order. */
export class ControlLine {
  readonly #line: Duplex;
  readonly #waiting: Question[] = [];
  #heard: Buffer = Buffer.alloc(0);
  #ended = false;

  constructor(line: Duplex) {
    this.#line = line;
    line.on('data', (bytes: Buffer) => this.#hear(bytes));
    // A process that ends in the middle of a question shows itself as a reset; `close` follows it.
    line.on('error', () => {});
    line.on('close', () => {
      this.#ended = true;
      for (const { reject } of this.#waiting.splice(0)) reject(new Error('the node has ended'));
    });
  }

  /**
   * Evaluates Erlang expressions, without the full stop, in the node, and resolves with the last one's value
   * as text.
   */
  ask(expressions: string): Promise<string> {
    if (this.#ended) return Promise.reject(new Error('the node is not running'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      const text = Buffer.from(`${expressions}.`);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(text.length);
      this.#line.write(Buffer.concat([length, text]));
    });
  }

  #hear(bytes: Buffer): void {
    this.#heard = Buffer.concat([this.#heard, bytes]);
    while (this.#heard.length >= 4 && this.#heard.length >= 4 + this.#heard.readUInt32BE(0)) {
      const end = 4 + this.#heard.readUInt32BE(0);
      const answer = this.#heard.toString('utf8', 4, end);
      this.#heard = this.#heard.subarray(end);
      const question = this.#waiting.shift();
      if (answer.startsWith('ok ')) question?.resolve(answer.slice(3));
      else question?.reject(new Error(`the node: ${answer.slice(3)}`));
    }
  }
}
