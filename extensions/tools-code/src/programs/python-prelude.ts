/**
 * Returns the code that gives a Python program its `tools`, and runs the program. Each tool sends a
 * line, and waits for the line that answers it.
 */
export function pythonPrelude(names: readonly string[]): string {
  // A text that is the same to both languages.
  return PRELUDE.replace('NAMES', () => JSON.stringify(JSON.stringify(names)));
}

const PRELUDE = `
def _begin():
    import builtins, json, os, socket, sys, threading

    names = json.loads(NAMES)

    class ToolError(Exception):
        def __init__(self, code, message):
            super().__init__(message)
            self.code = code

    class Channel:
        def __init__(self):
            self.lock = threading.Lock()
            self.last = 0
            self.ended = None
            self.file = None

        def open(self):
            os.set_inheritable(4, False)
            self.socket = socket.socket(fileno=4)
            self.file = self.socket.makefile('rb')

        def ask(self, tool, args):
            with self.lock:
                if self.ended is not None:
                    return self.ended
                if self.file is None:
                    self.open()
                self.last += 1
                call = {'id': self.last, 'tool': tool, 'args': args}
                data = json.dumps(call, allow_nan=False).encode() + b'\\n'
                line = b''
                try:
                    self.socket.sendall(data)
                except OSError:
                    pass
                try:
                    line = self.file.readline()
                except OSError:
                    pass
                answer = json.loads(line) if line else {
                    'end': True,
                    'code': 'CALL_ENDED',
                    'error': 'CALL_ENDED: the program can make no more calls',
                }
                if answer.get('end'):
                    self.ended = answer
                return answer

    channel = Channel()

    def forked():
        # The answers would go to whoever reads first.
        channel.lock = threading.Lock()
        channel.ended = {
            'end': True,
            'code': 'CALL_ENDED',
            'error': 'CALL_ENDED: only the process that began can call tools, and none that it forked',
        }

    os.register_at_fork(after_in_child=forked)

    class Tool:
        __slots__ = ('_name',)

        def __init__(self, name):
            self._name = name

        def full(self, **args):
            answer = channel.ask(self._name, args)
            if not answer.get('ok'):
                raise ToolError(answer['code'], answer['error'])
            return {'text': answer['text'], 'structured': answer.get('structured')}

        def __call__(self, **args):
            return self.full(**args)['text']

    class Tools:
        __slots__ = ()

        def __getitem__(self, name):
            if name in names:
                return Tool(name)
            raise ToolError(
                'TOOL_NOT_CALLABLE',
                f'TOOL_NOT_CALLABLE: {name} is not a tool that this program may call; there are {", ".join(names)}',
            )

        def __getattr__(self, name):
            # What asks whether it has a method of Python's own.
            if name.startswith('__') and name not in names:
                raise AttributeError(name)
            return self[name]

        def __dir__(self):
            return names

    builtins.tools = Tools()
    builtins.ToolError = ToolError
    file = sys.argv[1]
    sys.argv = sys.argv[1:]
    shown = sys.excepthook

    begin = sys._getframe().f_code

    def hook(kind, error, trace):
        # Where the program was begun, it has no part in.
        while trace and trace.tb_frame.f_code.co_filename == begin.co_filename:
            trace = trace.tb_next
        shown(kind, error, trace)

    sys.excepthook = hook
    path = os.path.abspath(file)
    with open(path, 'rb') as source:
        code = compile(source.read(), path, 'exec')
    space = sys.modules['__main__'].__dict__
    del space['_begin']
    space['__file__'] = path
    return code


exec(_begin())
`;
