#!/usr/bin/env python3
"""Carries connections to another address, as the rule of a Service would. usage: relay.py FROM PORT TO PORT"""
import asyncio
import sys

here, port, there, to = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])


async def carry(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.close()


async def connected(reader, writer):
    try:
        far_reader, far_writer = await asyncio.open_connection(there, to)
    except OSError:
        writer.close()
        return
    await asyncio.gather(carry(reader, far_writer), carry(far_reader, writer))
    far_writer.close()
    writer.close()


async def main():
    server = await asyncio.start_server(connected, here, port)
    await server.serve_forever()

asyncio.run(main())
